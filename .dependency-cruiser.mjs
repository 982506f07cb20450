import { OPTIONS } from "./tools/floors/cruise.ts";
import { FLOORS } from "./tools/floors/rules.ts";

export default { forbidden: FLOORS, options: OPTIONS };
