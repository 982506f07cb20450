import "node:fs"; // controllers-import-no-node
import "knip"; // controllers-use-the-toolkit
import "../health/judge.ts"; // modules-meet-at-ports
import "./adapters/one/one.ts"; // adapters-are-chosen-at-the-top
