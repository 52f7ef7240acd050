// `Date`: UTC is the local zone, the clock is the host's, and locales are refused.
import { type BuiltinFamily, type Machine, methods, native } from '../vm/native.js';
import { DateObject, type NativeFunction, type Value } from '../vm/values.js';
import { byFirst } from './cost.js';
import { dateText, fullText, parseDate, timeText, utcText } from './date-text.js';
import { thisDate } from './receiver.js';

const COST = 4;
const LONGEST_TIME = 8.64e15;

/** TimeClip: whole milliseconds within the range of dates, or NaN. */
function clip(time: number): number {
  return Math.abs(time) <= LONGEST_TIME ? Math.trunc(time) + 0 : Number.NaN;
}

/** Year, month, day, hours, minutes, seconds, milliseconds, as the constructor and Date.UTC take them. */
function fromFields(vm: Machine, args: readonly Value[]): number {
  const fields = args.slice(0, 7).map((each) => vm.toNumber(each));
  const [year = Number.NaN, month = 0, day = 1, hours = 0, minutes = 0, seconds = 0, ms = 0] = fields;
  // The host's Date.UTC uses no zone and maps the years 0…99 as JavaScript does.
  return Date.UTC(year, month, day, hours, minutes, seconds, ms);
}

function fromValue(vm: Machine, value: Value): number {
  if (value instanceof DateObject) return value.time;
  const primitive = vm.toPrimitive(value, 'default');
  return typeof primitive === 'string' ? parseDate(primitive) : clip(vm.toNumber(primitive));
}

const DATE = native(
  {
    name: 'Date',
    length: 7,
    cost: (receiver, args) => COST + byFirst(receiver, args),
    call: (vm) => fullText(clip(vm.now())),
    construct(vm, _receiver, args) {
      if (args.length === 0) return vm.newDate(clip(vm.now()));
      return vm.newDate(args.length === 1 ? fromValue(vm, args[0]) : fromFields(vm, args));
    },
    hasInstance: (value) => value instanceof DateObject,
    unsupportedStatics: ['prototype'],
  },
  {
    now: native({ name: 'Date.now', length: 0, cost: 1, call: (vm) => clip(vm.now()) }),
    parse: native({ name: 'Date.parse', length: 1, cost: byFirst, call: (vm, _receiver, args) => parseDate(vm.toString(args[0])) }),
    UTC: native({ name: 'Date.UTC', length: 7, cost: COST, call: (vm, _receiver, args) => fromFields(vm, args) }),
  },
);

function read(name: string, compute: (time: number, vm: Machine) => Value): NativeFunction {
  return native({
    name: `Date.prototype.${name}`,
    length: 0,
    cost: COST,
    call: (vm, receiver) => compute(thisDate(vm, receiver, name).time, vm),
  });
}

const FIELDS = ['FullYear', 'Month', 'Date', 'Day', 'Hours', 'Minutes', 'Seconds', 'Milliseconds'] as const;
const GETTERS = FIELDS.flatMap((field) => {
  const compute = (time: number) => new Date(time)[`getUTC${field}`]();
  return [read(`get${field}`, compute), read(`getUTC${field}`, compute)];
});

/** How many arguments each setter takes: setHours(hours, minutes, seconds, ms). */
const SETTERS = { FullYear: 3, Month: 2, Date: 1, Hours: 4, Minutes: 3, Seconds: 2, Milliseconds: 1 } as const;

function setter(name: string, field: keyof typeof SETTERS): NativeFunction {
  const most = SETTERS[field];
  return native({
    name: `Date.prototype.${name}`,
    length: most,
    cost: COST,
    call(vm, receiver, args) {
      const date = thisDate(vm, receiver, name);
      const first = vm.toNumber(args[0]);
      // Like V8 after the first argument, which may set the date itself; the others come too late for that.
      const time = vm.atStart(date.time);
      const rest = args.slice(1, most).map((each) => vm.toNumber(each));
      const numbers = args.length === 0 ? [] : [first, ...rest];
      const host = new Date(time);
      const set: (...values: number[]) => number = host[`setUTC${field}`];
      date.time = numbers.length === 0 ? Number.NaN : set.apply(host, numbers);
      return date.time;
    },
  });
}

const CHANGES = (Object.keys(SETTERS) as (keyof typeof SETTERS)[]).flatMap((field) => [
  setter(`set${field}`, field),
  setter(`setUTC${field}`, field),
]);

const setTime = native({
  name: 'Date.prototype.setTime',
  length: 1,
  cost: COST,
  call(vm, receiver, args) {
    const date = thisDate(vm, receiver, 'setTime');
    date.time = clip(vm.toNumber(args[0]));
    return date.time;
  },
});

function isoText(time: number, vm: Machine): string {
  if (Number.isNaN(time)) throw vm.error('RangeError', 'toISOString() was called on an invalid date');
  return new Date(time).toISOString();
}

// JSON has no invalid date: it becomes null, as in JavaScript. Own methods of the date are called.
const toJson = native({
  name: 'Date.prototype.toJSON',
  length: 1,
  cost: COST,
  *steps(vm, receiver) {
    const date = thisDate(vm, receiver, 'toJSON');
    if (date.props === null) return Number.isNaN(date.time) ? null : isoText(date.time, vm);
    const primitive = yield* vm.toPrimitiveSteps(date, 'number');
    if (typeof primitive === 'number' && !Number.isFinite(primitive)) return null;
    const write = vm.getProperty(date, 'toISOString');
    vm.requireCallable(write, 'toISOString');
    return yield { fn: write, args: [], receiver: date };
  },
});

const utcString = read('toUTCString', (time) => utcText(time));

const table: Record<string, NativeFunction> = {
  ...methods([
    ...GETTERS,
    ...CHANGES,
    setTime,
    read('getTime', (time) => time),
    read('getTimezoneOffset', (time) => (Number.isNaN(time) ? Number.NaN : 0)),
    read('valueOf', (time) => time),
    read('toDateString', dateText),
    read('toISOString', isoText),
    toJson,
    read('toString', fullText),
    read('toTimeString', timeText),
    utcString,
  ]),
  toGMTString: utcString,
};

export const DATES: BuiltinFamily = {
  globals: { Date: DATE },
  types: {
    date: {
      methods: Object.freeze(Object.assign(Object.create(null), table)),
      unsupported: ['constructor', 'getYear', 'setYear', 'toLocaleDateString', 'toLocaleString', 'toLocaleTimeString', 'toTemporalInstant'],
    },
  },
};
