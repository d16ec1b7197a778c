"""Packs from other formats to drafts, and drafts into folders, clients' too."""
