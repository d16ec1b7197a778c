"""Every rule, in the order in which they are asked."""
