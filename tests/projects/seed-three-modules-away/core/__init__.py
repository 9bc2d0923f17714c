from core.bootstrap import start
