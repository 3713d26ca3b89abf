"""Does memory help an agent? Tasks in a scripted world, with a model whose policy is fixed."""
