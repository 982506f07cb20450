export const world = 1;
