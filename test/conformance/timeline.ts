// Decides what happens to a run next: the one script of events that drives Flow and V8 alike, on a virtual clock.
// The V8 side loads this file with Node's own type stripping, so it has no imports at run time.
import type { Effect, ErrorData, FlowEvent, JsonText } from '../../libs/flow/turn.js';

/** How one call of a task or child workflow ends. */
export interface ScriptedResult {
  value?: JsonText;
  error?: ErrorData;
  /** Virtual milliseconds until it ends; without it, calls end in call order. */
  afterMs?: number;
  never?: boolean;
}

export interface ScriptedSignal {
  name: string;
  payload?: JsonText;
  /** The number of events that were delivered before this one; without it, when nothing else can happen. */
  at?: number;
}

/** What happens around a golden. */
export interface Script {
  inputs?: JsonText;
  /** Per task or workflow name, one per call; the last one repeats. Without any, a call returns its input. */
  results: Record<string, ScriptedResult[]>;
  signals: ScriptedSignal[];
  cancelAt?: number;
  /** Signal waits that Flow withdraws because their outcome cannot be observed; V8 cannot know, so they are listed here. */
  withdrawn: number[];
  /** The same for waits that Flow keeps for their timeout. */
  muted: number[];
}

interface Due {
  at: number;
  event: FlowEvent;
}

export const START = Date.UTC(2026, 0, 1);

export class Timeline {
  now = START;
  /** Every durable call in the order it was made, as a string that both sides can compare. */
  readonly calls: string[] = [];
  private readonly ready: FlowEvent[] = [];
  private readonly due: Due[] = [];
  private readonly signals: ScriptedSignal[];
  private readonly used: Record<string, number> = {};
  private delivered = 0;
  private closed = false;
  private seed = 12345;

  private readonly script: Script;

  constructor(script: Script) {
    this.script = script;
    this.signals = script.signals.slice();
  }

  /** From here on nothing is recorded: the run is over. */
  close(): void {
    this.closed = true;
  }

  /** Records a durable call; other effects change nothing here: a late event of a withdrawn call is still sent. */
  record(effect: Effect): void {
    if (this.closed) return;
    switch (effect.kind) {
      case 'task':
      case 'workflow':
        this.calls.push(`${effect.id} ${effect.kind} ${effect.name} ${effect.input ?? ''} ${JSON.stringify(sorted(effect.options))}`);
        this.finish(effect.id, effect.name, effect.input);
        return;
      case 'timer': {
        const at = 'at' in effect ? effect.at : this.now + effect.delayMs;
        this.calls.push(`${effect.id} timer ${new Date(at).toISOString()}`);
        this.due.push({ at, event: { kind: 'timer', id: effect.id } });
        return;
      }
      case 'wait':
        // Not listed: a wait that a stored signal resolves in its own turn never leaves the VM.
        if (effect.timeoutMs !== undefined) this.due.push({ at: this.now + effect.timeoutMs, event: { kind: 'timeout', id: effect.id } });
        return;
      case 'cancel':
        this.calls.push(`${effect.id} cancel`);
    }
  }

  /** The next event, or nothing when the run can never move again. */
  next(): FlowEvent | undefined {
    const event = this.scripted() ?? this.ready.shift() ?? this.tick() ?? this.idleSignal();
    if (event !== undefined) this.delivered++;
    return event;
  }

  /** Every event that does not need the clock to move; what a worker would find in the inbox of a busy run. */
  batch(): FlowEvent[] {
    const events: FlowEvent[] = [];
    for (;;) {
      // What is requested in the turn of a cancel, before it, is never started: that would make a difference.
      if (events.length > 0 && this.script.cancelAt === this.delivered) break;
      const event = this.scripted() ?? this.ready.shift();
      if (event === undefined) break;
      this.delivered++;
      events.push(event);
    }
    if (events.length > 0) return events;
    const event = this.next();
    return event === undefined ? [] : [event];
  }

  /** A small linear generator: both sides see the same numbers. */
  random(): number {
    this.seed = (Math.imul(this.seed, 1103515245) + 12345) & 0x7fffffff;
    return this.seed / 0x80000000;
  }

  uuid(): string {
    const hex = () => Math.floor(this.random() * 16).toString(16);
    return 'xxxxxxxx-xxxx-4xxx-8xxx-xxxxxxxxxxxx'.replace(/x/g, hex);
  }

  private finish(id: number, name: string, input: JsonText | undefined): void {
    const results = this.script.results[name];
    const count = this.used[name] ?? 0;
    this.used[name] = count + 1;
    const result: ScriptedResult = results?.[Math.min(count, results.length - 1)] ?? { value: input };
    if (result.never) return;
    const event: FlowEvent = result.error ? { kind: 'failed', id, error: result.error } : { kind: 'completed', id, value: result.value };
    if (result.afterMs === undefined) this.ready.push(event);
    else this.due.push({ at: this.now + result.afterMs, event });
  }

  private scripted(): FlowEvent | undefined {
    if (this.script.cancelAt === this.delivered) return { kind: 'cancel' };
    const index = this.signals.findIndex((signal) => signal.at !== undefined && signal.at <= this.delivered);
    return index < 0 ? undefined : this.send(index);
  }

  private tick(): FlowEvent | undefined {
    if (this.due.length === 0) return undefined;
    let first = 0;
    for (let i = 1; i < this.due.length; i++) if (this.due[i].at < this.due[first].at) first = i;
    const [{ at, event }] = this.due.splice(first, 1);
    this.now = Math.max(this.now, at);
    return event;
  }

  private idleSignal(): FlowEvent | undefined {
    return this.signals.length === 0 ? undefined : this.send(0);
  }

  private send(index: number): FlowEvent {
    const [{ name, payload }] = this.signals.splice(index, 1);
    return { kind: 'signal', key: `s${this.script.signals.length - this.signals.length}`, name, payload };
  }
}

function sorted(options: object): object {
  return Object.fromEntries(Object.entries(options).sort(([a], [b]) => (a < b ? -1 : 1)));
}
