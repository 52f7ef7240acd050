// Validation with any library that implements Standard Schema (zod, valibot, arktype and others): https://standardschema.dev

/** A schema: `Input` is what it takes, `Output` what it returns when that is valid. */
export interface StandardSchema<Input = unknown, Output = Input> {
  readonly '~standard': {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => SchemaResult<Output> | Promise<SchemaResult<Output>>;
    /** For the compiler only. */
    readonly types?: { readonly input: Input; readonly output: Output } | undefined;
  };
}

/** What `validate` returns: a value, or why there is none. */
export type SchemaResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | {
      readonly issues: ReadonlyArray<{
        readonly message: string;
        readonly path?: ReadonlyArray<PropertyKey | { key: PropertyKey }> | undefined;
      }>;
    };

/** What is wrong with one value: `path` is `items.0.price`, empty for the value itself. */
export interface SchemaIssue {
  path: string;
  message: string;
}

const MOST_ISSUES = 100;

export function isStandardSchema(value: unknown): value is StandardSchema {
  const isObject = (typeof value === 'object' && value !== null) || typeof value === 'function';
  const standard = isObject ? (value as Partial<StandardSchema>)['~standard'] : undefined;
  return typeof standard?.validate === 'function';
}

/** Passes the valid value to `then`, and the issues of another one to `refuse`, which throws. A promise only if the schema makes one. */
export function validated(
  schema: StandardSchema,
  value: unknown,
  then: (value: unknown) => unknown,
  refuse: (issues: SchemaIssue[]) => never,
) {
  const judge = (result: SchemaResult<unknown>) => (result.issues ? refuse(issuesOf(result)) : then(result.value));
  const result = schema['~standard'].validate(value);
  return result instanceof Promise ? result.then(judge) : judge(result);
}

function issuesOf({ issues }: Extract<SchemaResult<unknown>, { issues: readonly unknown[] }>): SchemaIssue[] {
  return issues.slice(0, MOST_ISSUES).map(({ path = [], message }) => ({
    path: path.map((part) => String(typeof part === 'object' ? part.key : part)).join('.'),
    message,
  }));
}
