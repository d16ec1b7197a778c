def fill():
    pass
return
