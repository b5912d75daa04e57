// Package scorebox turns a scorer in Go into a WebAssembly component. A program registers its scorer, and `scorebox
// build` does the rest:
//
// 	var config = struct{ IgnoreCase bool `json:"ignoreCase"` }{true}
//
// 	func init() {
// 		scorebox.Register(scorebox.Scorer{
// 			Info:      scorebox.Info{ID: "my-scorer", Name: "My scorer", Reads: scorebox.GroundTruth},
// 			Configure: scorebox.Into(&config),
// 			Score:     score,
// 		})
// 	}
//
// 	func score(it *scorebox.Case) (scorebox.Score, error) { … }
//
// 	func main() {}
//
// An error that Score returns, or a panic, becomes `failed` with its text; InvalidInput makes an error for a case that
// lacks what the scorer needs. A sandbox serves one call. Needs Go 1.24 or newer, and no other modules.
package scorebox

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unsafe"
)

// Fields are the parts of a case that a scorer reads, joined by |. The output is always present.
type Fields uint16

const (
	Input Fields = 1 << iota
	GroundTruth
	Context
	Latency
	OutputSchema
	Trace
	UsageField
	Metadata
	Baseline
)

// Scale is the range of the scores: 0 to 1, or any finite number from 0 up.
type Scale uint8

const (
	Unit Scale = iota
	Points
)

// Direction says which end of the scale is good.
type Direction uint8

const (
	HigherIsBetter Direction = iota
	LowerIsBetter
)

// Severity says how a score below the threshold counts: the case fails, or the shortfall is reported.
type Severity uint8

const (
	Gate Severity = iota
	Soft
)

// Info is what a scorer says about itself.
type Info struct {
	ID          string // 1 to 64 of a-z, 0-9, -
	Name        string // for a person
	Description string // what it scores, how, and where the formula is from
	Version     string
	// ConfigSchema is a JSON Schema of the configuration, if it has one. Keys and types are checked against it before
	// Configure is called.
	ConfigSchema string
	Scale        Scale
	Direction    Direction
	Reads        Fields
	Severity     Severity
	Threshold    *float64
}

// Document is one JSON document, as text.
type Document string

// Text returns the characters of a JSON string, and any other document as it is written.
func (d Document) Text() string {
	var text string
	if strings.HasPrefix(strings.TrimLeft(string(d), " \t\r\n"), `"`) && json.Unmarshal([]byte(d), &text) == nil {
		return text
	}
	return string(d)
}

// Decode reads the document into a value, as encoding/json does.
func (d Document) Decode(into any) error { return json.Unmarshal([]byte(d), into) }

// Usage is what the task consumed.
type Usage struct {
	InputTokens, OutputTokens, TotalTokens *uint64
	CostUSD                                *float64
}

// Case is one case. Parts that the scorer does not read, or that the case lacks, are nil.
type Case struct {
	Output       Document
	Input        *Document
	GroundTruth  *Document
	Context      *Document
	LatencyMS    *float64
	OutputSchema *Document
	Trace        *Document
	Usage        *Usage
	Metadata     *Document
	Baseline     *Document
}

// Assertion is one named check inside a score.
type Assertion struct {
	Name      string
	Score     float64 // 0 to 1
	Severity  *Severity
	Threshold *float64
	Reason    string
}

// Score is a score; without a Value, the scorer does not apply to the case.
type Score struct {
	Value      *float64
	Label      string
	Reason     string // why, for a person
	Meta       any    // anything that encoding/json can write, for programs
	Assertions []Assertion
}

// Value returns a pointer to a score, for the field of Score.
func Value(score float64) *float64 { return &score }

// Scorer is a scorer and its configuration. Configure may be nil.
type Scorer struct {
	Info      Info
	Configure func(config Document) error
	Score     func(it *Case) (Score, error)
}

var registered Scorer

// Register makes its argument the scorer of this component. Call it once, in init.
func Register(scorer Scorer) { registered = scorer }

// Into reads the configuration into a struct, which holds the defaults, and refuses keys that the struct does not have.
func Into(config any) func(Document) error {
	return func(document Document) error {
		decoder := json.NewDecoder(strings.NewReader(string(document)))
		decoder.DisallowUnknownFields()
		return decoder.Decode(config)
	}
}

type invalidInput struct{ error }

func (i invalidInput) Unwrap() error { return i.error }

// InvalidInput is an error about a case that lacks what the scorer needs, or has it in a form that the scorer cannot
// read. An error that wraps it counts as one too.
func InvalidInput(format string, values ...any) error {
	return invalidInput{fmt.Errorf(format, values...)}
}

// Level says how much a message matters.
type Level uint32

const (
	Debug Level = iota
	Information
	Warn
	Error
)

//go:wasmimport scorebox:scorer/log@0.1.0 letter
func logLetter(letter uint32)

//go:wasmimport scorebox:scorer/log@0.1.0 end
func logEnd(level uint32)

// Log logs a message for the author who debugs a scorer. (Printed text is logged too, one message per line.)
func Log(level Level, format string, values ...any) {
	for _, letter := range fmt.Sprintf(format, values...) {
		logLetter(uint32(letter))
	}
	logEnd(uint32(level))
}

// The contract scorebox:scorer@0.1.0 as it is laid out in memory, in bytes from the start of each record. A test of
// scorebox compares the numbers with the contract.
const (
	optionalText   = 4 // offset of the value of an option that is aligned to 4
	optionalNumber = 8 // and to 8

	usageInputTokens  = 0
	usageOutputTokens = 16
	usageTotalTokens  = 32
	usageCostUSD      = 48

	caseOutput       = 0
	caseInput        = 8
	caseGroundTruth  = 20
	caseContext      = 32
	caseLatencyMS    = 48
	caseOutputSchema = 64
	caseTrace        = 76
	caseUsage        = 88
	caseMetadata     = 160
	caseBaseline     = 172

	infoID           = 0
	infoName         = 8
	infoDescription  = 16
	infoVersion      = 24
	infoConfigSchema = 32
	infoScale        = 44
	infoDirection    = 45
	infoReads        = 46
	infoSeverity     = 48
	infoThreshold    = 56
	infoSize         = 72

	assertionName      = 0
	assertionScore     = 8
	assertionSeverity  = 16
	assertionThreshold = 24
	assertionReason    = 40
	assertionSize      = 56

	scoreScore      = 0
	scoreLabel      = 16
	scoreReason     = 28
	scoreMeta       = 40
	scoreAssertions = 52

	answerIs           = 8
	answerErrorKind    = 8
	answerErrorMessage = 12
	answerSize         = 72

	configuredMessage = 4
	configuredSize    = 12
)

// Keeps what the host has pointers to, so that it is not garbage-collected.
var kept [][]uint64

// A record in memory, aligned to 8.
type record struct{ at unsafe.Pointer }

func allocate(size int) record {
	block := make([]uint64, size/8+1)
	kept = append(kept, block)
	return record{unsafe.Pointer(&block[0])}
}

func (r record) part(offset int) record       { return record{unsafe.Add(r.at, offset)} }
func (r record) byte(offset int, value uint8) { *(*uint8)(unsafe.Add(r.at, offset)) = value }
func (r record) u32(offset int, value uint32) { *(*uint32)(unsafe.Add(r.at, offset)) = value }

// A text of the contract is UTF-8, so the rest of a character that was cut becomes U+FFFD.
func (r record) text(offset int, text string) {
	text = strings.ToValidUTF8(text, "\ufffd")
	block := allocate(len(text))
	copy(unsafe.Slice((*byte)(block.at), len(text)), text)
	r.u32(offset, uint32(uintptr(block.at)))
	r.u32(offset+4, uint32(len(text)))
}

func (r record) someText(offset int, text string) {
	if text != "" {
		r.byte(offset, 1)
		r.text(offset+optionalText, text)
	}
}

func (r record) someNumber(offset int, number *float64) {
	if number != nil {
		r.byte(offset, 1)
		*(*float64)(unsafe.Add(r.at, offset+optionalNumber)) = *number
	}
}

func (r record) is(offset int) bool { return *(*uint8)(unsafe.Add(r.at, offset)) != 0 }

func textAt(at unsafe.Pointer, length uint32) string {
	if length == 0 {
		return ""
	}
	return unsafe.String((*byte)(at), length)
}

func (r record) document(offset int) Document {
	at := *(*uint32)(unsafe.Add(r.at, offset))
	return Document(textAt(unsafe.Pointer(uintptr(at)), *(*uint32)(unsafe.Add(r.at, offset+4))))
}

func (r record) givenDocument(offset int) *Document {
	if !r.is(offset) {
		return nil
	}
	document := r.document(offset + optionalText)
	return &document
}

func given[T any](r record, offset int) *T {
	if !r.is(offset) {
		return nil
	}
	value := *(*T)(unsafe.Add(r.at, offset+optionalNumber))
	return &value
}

//go:wasmexport cabi_realloc
func allocateForHost(old unsafe.Pointer, oldSize, align, size uint32) unsafe.Pointer {
	block := allocate(int(size))
	if oldSize > 0 {
		copy(unsafe.Slice((*byte)(block.at), size), unsafe.Slice((*byte)(old), oldSize))
	}
	return block.at
}

//go:wasmexport scorebox:scorer/scoring@0.1.0#describe
func exportDescribe() unsafe.Pointer {
	info, made := registered.Info, allocate(infoSize)
	if info.Version == "" {
		info.Version = "0.1.0"
	}
	made.text(infoID, info.ID)
	made.text(infoName, info.Name)
	made.text(infoDescription, info.Description)
	made.text(infoVersion, info.Version)
	made.someText(infoConfigSchema, info.ConfigSchema)
	made.byte(infoScale, uint8(info.Scale))
	made.byte(infoDirection, uint8(info.Direction))
	*(*uint16)(unsafe.Add(made.at, infoReads)) = uint16(info.Reads)
	made.byte(infoSeverity, uint8(info.Severity))
	made.someNumber(infoThreshold, info.Threshold)
	return made.at
}

// Calls a function; a panic becomes an error.
func caught(call func() error) (problem error) {
	defer func() {
		if panicked := recover(); panicked != nil {
			problem = fmt.Errorf("panic: %v", panicked)
		}
	}()
	return call()
}

//go:wasmexport scorebox:scorer/scoring@0.1.0#configure
func exportConfigure(at unsafe.Pointer, length uint32) unsafe.Pointer {
	made := allocate(configuredSize)
	problem := caught(func() error {
		if registered.Score == nil {
			return errors.New("the program registers no scorer: call scorebox.Register in init")
		}
		if registered.Configure == nil {
			return nil
		}
		return registered.Configure(Document(textAt(at, length)))
	})
	if problem != nil {
		made.byte(0, 1)
		made.text(configuredMessage, problem.Error())
	}
	return made.at
}

//go:wasmexport scorebox:scorer/scoring@0.1.0#score
func exportScore(input unsafe.Pointer) unsafe.Pointer {
	from, made := record{input}, allocate(answerSize)
	it := &Case{
		Output:       from.document(caseOutput),
		Input:        from.givenDocument(caseInput),
		GroundTruth:  from.givenDocument(caseGroundTruth),
		Context:      from.givenDocument(caseContext),
		LatencyMS:    given[float64](from, caseLatencyMS),
		OutputSchema: from.givenDocument(caseOutputSchema),
		Trace:        from.givenDocument(caseTrace),
		Metadata:     from.givenDocument(caseMetadata),
		Baseline:     from.givenDocument(caseBaseline),
	}
	if from.is(caseUsage) {
		usage := from.part(caseUsage + optionalNumber)
		it.Usage = &Usage{
			InputTokens:  given[uint64](usage, usageInputTokens),
			OutputTokens: given[uint64](usage, usageOutputTokens),
			TotalTokens:  given[uint64](usage, usageTotalTokens),
			CostUSD:      given[float64](usage, usageCostUSD),
		}
	}
	problem := caught(func() error {
		score, err := registered.Score(it)
		if err != nil {
			return err
		}
		return lower(score, made.part(answerIs))
	})
	if problem != nil {
		made = allocate(answerSize)
		made.byte(0, 1)
		if !errors.As(problem, new(invalidInput)) {
			made.byte(answerErrorKind, 1)
		}
		made.text(answerErrorMessage, problem.Error())
	}
	return made.at
}

func lower(score Score, to record) error {
	to.someNumber(scoreScore, score.Value)
	to.someText(scoreLabel, score.Label)
	to.someText(scoreReason, score.Reason)
	if score.Meta != nil {
		var meta bytes.Buffer
		encoder := json.NewEncoder(&meta)
		encoder.SetEscapeHTML(false)
		if err := encoder.Encode(score.Meta); err != nil {
			return err
		}
		to.someText(scoreMeta, strings.TrimSuffix(meta.String(), "\n"))
	}
	all := allocate(assertionSize * len(score.Assertions))
	for place, assertion := range score.Assertions {
		made := all.part(assertionSize * place)
		made.text(assertionName, assertion.Name)
		*(*float64)(unsafe.Add(made.at, assertionScore)) = assertion.Score
		if assertion.Severity != nil {
			made.byte(assertionSeverity, 1)
			made.byte(assertionSeverity+1, uint8(*assertion.Severity))
		}
		made.someNumber(assertionThreshold, assertion.Threshold)
		made.someText(assertionReason, assertion.Reason)
	}
	to.u32(scoreAssertions, uint32(uintptr(all.at)))
	to.u32(scoreAssertions+4, uint32(len(score.Assertions)))
	return nil
}
