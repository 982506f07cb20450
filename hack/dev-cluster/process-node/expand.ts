/**
 * Replaces `$(NAME)` by the variable's value, as the API documents it for commands, arguments and values of
 * variables. `$$(NAME)` stands for the text `$(NAME)`. An unknown name is left as it is.
 */
export function expand(text: string, variables: Readonly<Record<string, string>>): string {
  return text.replace(/\$\$|\$\(([^()]*)\)/g, (found, name: string | undefined) => {
    if (name === undefined) return "$";
    return Object.hasOwn(variables, name) ? (variables[name] ?? "") : found;
  });
}
