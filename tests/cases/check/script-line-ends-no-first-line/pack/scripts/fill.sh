cd forms
ls
