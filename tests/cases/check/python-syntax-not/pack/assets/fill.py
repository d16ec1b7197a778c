{{ name }} = 1
