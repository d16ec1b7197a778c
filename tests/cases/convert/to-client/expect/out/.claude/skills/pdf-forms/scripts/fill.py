print('{{TEAM}}')
