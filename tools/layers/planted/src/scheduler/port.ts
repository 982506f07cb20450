import "../domain/value.ts"; // ports-import-types
import "../runtime/tool.ts"; // ports-know-the-domain
