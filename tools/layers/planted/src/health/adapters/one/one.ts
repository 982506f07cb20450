import "../../../scheduler/controller.ts"; // controllers-are-started-at-the-top
