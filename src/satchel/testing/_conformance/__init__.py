"""Any loader of skills, tried on the packs of the truth table and on hostile ones."""
