// The payload that every contestant enqueues.

export const PAYLOAD = { order: 'b3f1c2d4-0000-4000-8000-1234567890ab', amount: 1999, currency: 'EUR', note: 'thank you' };
