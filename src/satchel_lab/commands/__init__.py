"""Commands of this product; `satchel.products` names them."""
