# A container's port is published by whoever starts it, who also has the browser.
# ruff: noqa: F821
c.ServerApp.ip = "0.0.0.0"
c.ServerApp.open_browser = False
c.ServerApp.port_retries = 0
