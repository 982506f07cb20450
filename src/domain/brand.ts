/** A `T` that only the function parsing or making it may produce, so that two kinds of string are never mixed up. */
export type Brand<T, Name extends string> = T & { readonly __brand: Name };
