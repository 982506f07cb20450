import { OPTIONS } from "./tools/layers/cruise.ts";
import { LAYERS } from "./tools/layers/rules.ts";

export default { forbidden: LAYERS, options: OPTIONS };
