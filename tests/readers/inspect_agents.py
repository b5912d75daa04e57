from inspect_ai import Task, eval
from inspect_ai.agent import as_tool, react
from inspect_ai.dataset import Sample
from inspect_ai.model import ModelOutput, ModelUsage, get_model
from inspect_ai.scorer import includes
from inspect_ai.tool import tool

@tool
def delete_all():
    async def execute(path: str):
        """d

        Args:
          path: p
        """
        return "deleted"
    return execute

worker = react(name="worker", description="does work", tools=[delete_all()])
outs = [ModelOutput.for_tool_call("mockllm/model", name, arguments) for name, arguments in [
    ("worker", {"input": "clean"}), ("delete_all", {"path": "/"}), ("submit", {"answer": "cleaned"}), ("submit", {"answer": "ok"})]]
for out in outs:
    out.usage = ModelUsage(input_tokens=10, output_tokens=5, total_tokens=15)
eval(Task(dataset=[Sample(id="s", input="Clean up", target="ok")], solver=react(tools=[as_tool(worker)]), scorer=includes()),
     model=get_model("mockllm/model", custom_outputs=outs), log_dir=".", display="none")
