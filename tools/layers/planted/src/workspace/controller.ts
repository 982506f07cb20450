import "../../hack/script.ts"; // src-stands-on-its-own
import "../main.ts"; // nothing-imports-the-top
import "../shard/render.ts"; // only-the-reconciler-knows-shards
import "../simulation/world.ts"; // production-never-simulates
// @ts-expect-error: it is not there
import "./nowhere.ts"; // nothing-unresolved
import "./testing/builders.ts"; // production-needs-no-tests
