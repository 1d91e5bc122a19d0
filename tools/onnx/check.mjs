// Runs an exported network in onnxruntime-web and holds it against the program's own answers:
//
//     mancala model export FILE --format onnx --out net.onnx --check net.json
//     npm install && node check.mjs net.onnx net.json
//
// It prints the largest difference of each output and fails above 1e-5.
import { readFile } from "node:fs/promises";
import * as ort from "onnxruntime-web";

const [model, answers] = process.argv.slice(2);
if (!model || !answers) {
  console.error("usage: node check.mjs MODEL.onnx ANSWERS.json");
  process.exit(2);
}

ort.env.wasm.numThreads = 1;
const session = await ort.InferenceSession.create(new Uint8Array(await readFile(model)), { executionProviders: ["wasm"] });
const { inputs, positions } = JSON.parse(await readFile(answers));

const observation = new Float32Array(positions.length * inputs);
positions.forEach((p, row) => p.ones.forEach((i) => (observation[row * inputs + i] = 1)));

// All at once, and the first alone: the size of the batch is free.
let worst = 0;
for (const rows of [positions.length, 1]) {
  const result = await session.run({
    observation: new ort.Tensor("float32", observation.slice(0, rows * inputs), [rows, inputs]),
  });
  for (const [name, tensor] of Object.entries(result)) {
    const want = positions.slice(0, rows).flatMap((p) => p[name]);
    if (want.length !== tensor.data.length) throw new Error(`${name}: ${tensor.data.length} numbers, want ${want.length}`);
    const difference = want.reduce((d, x, i) => Math.max(d, Math.abs(x - tensor.data[i])), 0);
    const largest = want.reduce((m, x) => Math.max(m, Math.abs(x)), 0);
    console.log(`${name} of ${rows}: ${want.length} numbers up to ${largest.toFixed(3)}, largest difference ${difference.toExponential(1)}`);
    worst = Math.max(worst, difference);
  }
}
if (!(worst <= 1e-5)) {
  console.error(`differs by ${worst}: want at most 1e-5`);
  process.exit(1);
}
