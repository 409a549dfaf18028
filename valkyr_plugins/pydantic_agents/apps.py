"""The Django app of the plugin `pydantic_agents`."""

from executions.public.plugins import PluginConfig


class PydanticAgentsConfig(PluginConfig):
    """Agents of Pydantic AI as steps: recorded model and tool calls are not repeated."""

    name = "valkyr_plugins.pydantic_agents"
    label = "valkyr_pydantic_agents"
    verbose_name = "Pydantic AI agents"
