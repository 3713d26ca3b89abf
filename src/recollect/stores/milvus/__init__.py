"""Milvus as a search index beside the store of record, made anew from it whenever it is lost."""
