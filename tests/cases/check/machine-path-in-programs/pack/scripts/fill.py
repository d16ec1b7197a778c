print('/Users/jsmith/forms/a')
