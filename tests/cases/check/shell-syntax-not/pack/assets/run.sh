if {{ x }} then
