import "./chicken.ts"; // no-cycles
