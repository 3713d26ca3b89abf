"""Mining without a model: what people say of themselves, found by rules."""
