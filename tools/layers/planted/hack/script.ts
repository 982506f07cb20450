export const script = 1;
