def input(text):
    return text


name = input('name')
words = 'input()'
