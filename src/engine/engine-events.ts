// The one stream on which the engine announces what happens: logs, metrics, traces and the dashboard attach here.

/** Something that happened. Times and workers are those of the announcing process. */
export type EngineEvent =
  | { type: 'worker-started' | 'worker-stopped' | 'worker-declared-dead'; workerId: string }
  | { type: 'claimed'; workerId: string; count: number }
  | { type: 'started'; executionId: string; name: string; attempt: number }
  | { type: 'resumed' | 'suspended'; executionId: string; name: string }
  | { type: 'finished'; executionId: string; name: string; status: 'completed' | 'failed' | 'cancelled'; parentId: string | null }
  | { type: 'retried'; executionId: string; name: string; attempt: number; delayMs: number; error: { name: string; message: string } }
  | { type: 'lost'; executionId: string; name: string }
  | { type: 'recovered'; workerId: string; executions: string[] }
  | { type: 'quarantined'; executionId: string; name: string; crashes: number }
  | { type: 'snapshot-large'; executionId: string; name: string; bytes: number }
  | { type: 'trouble'; where: string; error: unknown };

type Listener = (event: EngineEvent) => void;

/** The stream. A listener that throws is heard about, and harms nobody. */
export class EngineEvents {
  private readonly listeners = new Set<Listener>();

  /** False lets the hot path skip making events. */
  get heard(): boolean {
    return this.listeners.size > 0;
  }

  subscribe(listener: Listener): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  emit(event: EngineEvent): void {
    for (const listener of this.listeners) {
      try {
        listener(event);
      } catch (error) {
        if (event.type !== 'trouble') this.emit({ type: 'trouble', where: 'a listener of the engine events', error });
      }
    }
  }
}
