import "./egg.ts"; // no-cycles
