export const builders = 1;
