"""The commands by name, as `module:attribute` in this package, loaded on first use.

To add a command, add a module and a line below.
"""

COMMANDS = {
    "init": "onboarding:init",
    "doctor": "onboarding:doctor",
    "validate": "definitions:validate",
    "publish": "definitions:publish",
    "canary": "canaries:canary",
    "rollback": "canaries:rollback",
    "plan": "applying:plan",
    "apply": "applying:apply",
    "export": "definitions:export",
    "promote": "promoting:promote",
    "schema": "definitions:schema",
    "workflows": "definitions:workflows",
    "start": "starting:start",
    "run": "starting:run",
    "list": "executions:list_executions",
    "show": "executions:show",
    "watch": "watching:watch",
    "logs": "executions:logs",
    "why": "executions:why",
    "cancel": "executions:cancel",
    "dead": "dead_letters:dead",
    "redrive": "redriving:redrive",
    "login": "access:login",
    "logout": "access:logout",
    "whoami": "access:whoami",
    "token": "access:token",
    "mcp": "agents:mcp",
    "up": "project:up",
    "manage": "project:manage",
    "sql": "project:sql",
    "completion": "project:completion",
}
