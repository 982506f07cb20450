import "../scheduler/score.ts"; // domain-stands-alone
