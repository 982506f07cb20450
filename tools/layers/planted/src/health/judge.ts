export const judge = 1;
