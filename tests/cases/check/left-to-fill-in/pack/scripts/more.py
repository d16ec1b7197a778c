# TODO: implement
pass
