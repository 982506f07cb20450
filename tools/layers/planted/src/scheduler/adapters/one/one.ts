import "../two/two.ts"; // adapters-keep-to-themselves
