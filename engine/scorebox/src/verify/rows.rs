//! Reads the requested rows, each with its case as scorers see it: a case is read once for all of its rows. It judges
//! no row.

use std::sync::Arc;

use crate::{
    row::Answer,
    scoring::CaseInFlight,
    store::{
        CaseContent, CaseKey, ScoreCursor, ScoreFilter, ScoreRecord, ScorerKey, Store, StoreError,
    },
};

use super::{Verdict, VerifyRequest, rescore::rebuilt, sample};

/// How many rows are read at a time.
const PAGE: usize = 64;

/// A case that is stored.
pub(super) struct StoredCase {
    key: CaseKey,
    /// About how many bytes it uses.
    pub(super) bytes: usize,
    /// Why it must not be judged.
    pub(super) skip: Option<String>,
    /// Why there is no output to score, if the task failed.
    pub(super) failure: Option<String>,
    /// The case, `None` if it is a result that does not exist; or the finding for all of its rows.
    pub(super) case: Result<Option<Arc<CaseInFlight>>, Verdict>,
}

impl StoredCase {
    fn new(key: CaseKey, content: &CaseContent) -> StoredCase {
        let case = checked(content).map(|case| Some(Arc::new(case)));
        let known = case.as_ref().ok().and_then(Option::as_ref);
        let failure = known.and_then(|case| case.case().error()).map(str::to_owned);
        StoredCase { key, bytes: content.bytes(), skip: content.skip.clone(), failure, case }
    }

    /// The answer of the scorer with the key `subject` for the case, as a case.
    pub(super) fn with_result(
        &self,
        store: &Store,
        subject: ScorerKey,
    ) -> Result<StoredCase, StoreError> {
        let cursor = ScoreCursor::new(self.key, subject);
        let answer = store.score_at(cursor)?.map(|record| record.row.answer);
        let result = |case: &Option<Arc<CaseInFlight>>| {
            let result = case.as_ref()?.with_result(answer.as_ref()?)?;
            Some(Arc::new(result))
        };
        let case = self.case.as_ref().map(result).map_err(Verdict::clone);
        let result = case.iter().flatten().map(|case| case.case().json().len()).sum::<usize>();
        // The failed task counts only if it is why the result is missing.
        let failure = self.failure.clone();
        let failure = failure.filter(|_| answer.as_ref().is_some_and(Answer::is_of_failed_task));
        let (key, bytes, skip) = (self.key, self.bytes + result, self.skip.clone());
        Ok(StoredCase { key, bytes, skip, failure, case })
    }
}

/// The case, if it has the stored digest.
fn checked(content: &CaseContent) -> Result<CaseInFlight, Verdict> {
    let case = rebuilt(content)
        .map_err(|reason| Verdict::not_verifiable(format!("its case cannot be read: {reason}")))?;
    let actual = case.digest();
    match actual == content.digest {
        true => Ok(CaseInFlight::new(case, None)),
        false => Err(Verdict::different("case", content.digest.to_string(), actual.to_string())),
    }
}

/// The requested rows, one at a time.
pub(super) struct StoredRows<'a> {
    store: &'a Store,
    filter: &'a ScoreFilter,
    drawn: Option<std::vec::IntoIter<ScoreCursor>>,
    page: std::vec::IntoIter<ScoreRecord>,
    after: Option<ScoreCursor>,
    /// The case of the previous row.
    case: Option<Arc<StoredCase>>,
}

impl<'a> StoredRows<'a> {
    pub(super) fn new(
        store: &'a Store,
        request: &'a VerifyRequest,
    ) -> Result<StoredRows<'a>, StoreError> {
        let filter = &request.filter;
        let drawn = match request.sample {
            None => None,
            Some(count) => {
                let indices = sample::draw(store.score_count(filter)?, count, request.seed);
                Some(store.cursors_at(filter, &indices)?.into_iter())
            }
        };
        Ok(StoredRows {
            store,
            filter,
            drawn,
            page: Vec::new().into_iter(),
            after: None,
            case: None,
        })
    }

    /// Returns the next row with its case; `None` after the last.
    pub(super) fn next(&mut self) -> Result<Option<(ScoreRecord, Arc<StoredCase>)>, StoreError> {
        let Some(record) = self.next_record()? else { return Ok(None) };
        let key = record.cursor.case();
        let case = match self.case.take().filter(|case| case.key == key) {
            Some(case) => case,
            None => {
                let content = self.store.case_content(key)?;
                Arc::new(StoredCase::new(key, &content))
            }
        };
        self.case = Some(Arc::clone(&case));
        Ok(Some((record, case)))
    }

    fn next_record(&mut self) -> Result<Option<ScoreRecord>, StoreError> {
        if let Some(drawn) = &mut self.drawn {
            // A row without a case has no record.
            for cursor in drawn {
                if let Some(record) = self.store.score_at(cursor)? {
                    return Ok(Some(record));
                }
            }
            return Ok(None);
        }
        if self.page.len() == 0 {
            self.page = self.store.scores(self.filter, self.after, PAGE)?.into_iter();
        }
        let record = self.page.next();
        self.after = record.as_ref().map(|record| record.cursor).or(self.after);
        Ok(record)
    }
}
