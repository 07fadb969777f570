/** A job calls `done` once, when the next may start. */
type Job = (done: () => void) => void;

/** Runs jobs one after another, in the order of arrival. */
export function makeSerial(): (job: Job) => void {
  const waiting: Job[] = [];
  let isBusy = false;

  function next(): void {
    const job = waiting.shift();
    if (job === undefined) isBusy = false;
    else job(next);
  }

  return (job) => {
    if (isBusy) {
      waiting.push(job);
      return;
    }
    isBusy = true;
    job(next);
  };
}
