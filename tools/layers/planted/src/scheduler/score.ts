import "node:fs"; // core-imports-no-node
import "knip"; // core-imports-no-packages, packages-have-an-address
import "../runtime/tool.ts"; // core-stays-in-its-module
import "./port.ts"; // core-knows-no-controllers
