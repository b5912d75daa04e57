from inspect_ai import Task, task, eval
from inspect_ai.dataset import Sample
from inspect_ai.model import get_model, ModelOutput, ChatMessageSystem, ChatMessageUser
from inspect_ai.scorer import match, model_graded_fact, choice
from inspect_ai.solver import generate, system_message, multiple_choice, solver
from inspect_ai import Epochs

from inspect_ai.model import ModelUsage
def usage(text):
    o = ModelOutput.from_content("mockllm/model", text)
    o.usage = ModelUsage(input_tokens=21, output_tokens=2, total_tokens=23)
    return o

@solver
def breaks():
    async def solve(state, generate):
        if state.sample_id == "breaks": raise RuntimeError("the tool server is gone\nat port 1")
        return state
    return solve

@task
def capitals():
    return Task(dataset=[
      Sample(id="france", input="What is the capital of France?", target="Paris", metadata={"topic":"europe"}),
      Sample(id=2, input=[ChatMessageUser(content="What is the capital of Peru?")], target=["Lima","lima"]),
      Sample(id="breaks", input="What is the capital of Nowhere?", target="none"),
    ], solver=[system_message("Answer with the city's name."), breaks(), generate()], scorer=match(), fail_on_error=False)
outs=[usage(t) for t in ["Paris","Lima","Paris","Cusco"]]
for fmt in ["eval","json"]:
    ep = 2 if fmt=="eval" else 1
    outs=[usage(t) for t in (["Paris","Lima","Paris","Cusco"] if fmt=="eval" else ["Paris","Lima"])]
    log=eval(capitals(), model=get_model("mockllm/model", custom_outputs=iter(outs), memoize=False), epochs=ep, log_dir=".", log_format=fmt, max_samples=1, display="none", fail_on_error=False)
    print(log[0].location, log[0].status)
