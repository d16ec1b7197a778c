"""Figures for the docs: ours beside a floor, and beside other Python skill loaders."""
