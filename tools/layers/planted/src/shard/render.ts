export const render = 1;
