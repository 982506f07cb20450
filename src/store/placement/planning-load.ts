/** What one application adds to its unit's load: a thousand thousandths. */
export const LOAD_PER_APPLICATION = 1000;
