"""How often findings are wrong on public packs that no rule was written on."""
