// Reads a JSON array of texts, writes for each what JSON.parse makes of it, or null where it refuses.
const bits = (number) => {
  const view = new DataView(new ArrayBuffer(8));
  view.setFloat64(0, number + 0 === 0 ? 0 : number);
  return view.getBigUint64(0).toString(16).padStart(16, "0");
};
const shape = (value) => {
  if (typeof value === "number") return ["number", bits(value)];
  if (Array.isArray(value)) return ["array", value.map(shape)];
  if (value !== null && typeof value === "object")
    return ["object", Object.keys(value).sort().map((key) => [key, shape(value[key])])];
  return ["other", value];
};
const texts = JSON.parse(require("fs").readFileSync(0, "utf8"));
const read = (text) => {
  try {
    return shape(JSON.parse(text));
  } catch {
    return null;
  }
};
process.stdout.write(JSON.stringify(texts.map(read)));
