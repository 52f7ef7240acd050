// `@TaskInput()` and `@TaskCtx()`: parameters of a task method in any order, with pipes of their own.

import type { PipeTransform, Type } from '@nestjs/common';

type Pipe = Type<PipeTransform> | PipeTransform;

/** What is known of one decorated parameter; Nest's own parameter decorators store the same. */
export interface TaskParameter {
  index: number;
  data: string | undefined;
  pipes: Pipe[];
}

// Where Nest looks for classes of pipes that it must create, and what its router and `createParamDecorator` use too.
const ROUTE_ARGUMENTS = '__routeArguments__';
/** The body of a request, to Nest's pipes: they validate and transform it, and leave what they do not know alone. */
export const INPUT_PARAMETER = 3;
/** Not a number that Nest gives a meaning to. */
export const CONTEXT_PARAMETER = 1_000;

/** The input of the task, or one property of it, through these pipes. */
export function TaskInput(...pipes: Pipe[]): ParameterDecorator;
export function TaskInput(property: string, ...pipes: Pipe[]): ParameterDecorator;
export function TaskInput(first?: string | Pipe, ...rest: Pipe[]): ParameterDecorator {
  if (typeof first === 'string') return parameter('TaskInput', INPUT_PARAMETER, first, rest);
  return parameter('TaskInput', INPUT_PARAMETER, undefined, first === undefined ? rest : [first, ...rest]);
}

/** The `TaskContext` of the attempt. */
export function TaskCtx(): ParameterDecorator {
  return parameter('TaskCtx', CONTEXT_PARAMETER, undefined, []);
}

/** The decorated parameters of a method by their key, `type:index`; undefined if none is decorated. */
export function parametersOf(owner: object, key: string): Readonly<Record<string, TaskParameter>> | undefined {
  return Reflect.getMetadata(ROUTE_ARGUMENTS, owner, key);
}

function parameter(decorator: string, type: number, data: string | undefined, pipes: Pipe[]): ParameterDecorator {
  return (target, key, index) => {
    if (key === undefined) throw new TypeError(`@${decorator} is for parameters of methods, not of constructors.`);
    const owner = target.constructor;
    const known = Reflect.getMetadata(ROUTE_ARGUMENTS, owner, key) ?? {};
    Reflect.defineMetadata(ROUTE_ARGUMENTS, { ...known, [`${type}:${index}`]: { index, data, pipes } }, owner, key);
  };
}
