import "../domain/value.ts"; // toolkit-knows-no-fleet
