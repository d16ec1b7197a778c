import getpass

name = input('Name? ')
word = getpass.getpass()
