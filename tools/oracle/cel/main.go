// Answers CEL questions with the environment of Kubernetes: reads a JSON list of cases from standard input and writes
// the list of answers: type, value, error, static and actual cost.
package main

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"sort"
	"strconv"
	"strings"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/checker"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	v1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	schemacel "k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel/model"
	"k8s.io/apimachinery/pkg/util/version"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	apiservercel "k8s.io/apiserver/pkg/cel"
	"k8s.io/apiserver/pkg/cel/environment"
	"k8s.io/apiserver/pkg/cel/library"
)

type question struct {
	Expr    string          `json:"expr"`
	Schema  json.RawMessage `json:"schema"`
	Self    json.RawMessage `json:"self"`
	OldSelf json.RawMessage `json:"oldSelf"`
	Root    bool            `json:"root"`
}

type answer struct {
	Issues  string `json:"issues,omitempty"`
	Type    string `json:"type,omitempty"`
	Value   string `json:"value,omitempty"`
	Error   string `json:"error,omitempty"`
	Cost    uint64 `json:"cost"`
	MinCost string `json:"minCost,omitempty"`
	MaxCost string `json:"maxCost,omitempty"`
}

type sizes struct{ root *apiservercel.DeclType }

func (s *sizes) EstimateCallCost(string, string, *checker.AstNode, []checker.AstNode) *checker.CallEstimate {
	return nil
}

func (s *sizes) EstimateSize(node checker.AstNode) *checker.SizeEstimate {
	if len(node.Path()) == 0 {
		return nil
	}
	at := s.root
	for _, name := range node.Path()[1:] {
		var next *apiservercel.DeclType
		switch name {
		case "@items", "@values":
			next = at.ElemType
		case "@keys":
			next = at.KeyType
		default:
			if field, ok := at.Fields[name]; ok {
				next = field.Type
			}
		}
		if next == nil {
			return nil
		}
		at = next
	}
	return &checker.SizeEstimate{Min: 0, Max: uint64(at.MaxElements)}
}

func decode(raw json.RawMessage) any {
	var v any
	if err := utiljson.Unmarshal(raw, &v); err != nil {
		panic(err)
	}
	return v
}

func structural(raw json.RawMessage) *schema.Structural {
	props := v1.JSONSchemaProps{}
	if err := json.Unmarshal(raw, &props); err != nil {
		panic(err)
	}
	internal := apiextensions.JSONSchemaProps{}
	if err := v1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(&props, &internal, nil); err != nil {
		panic(err)
	}
	s, err := schema.NewStructural(&internal)
	if err != nil {
		panic(err)
	}
	return s
}

func ask(q question) (a answer) {
	base := environment.MustBaseEnvSet(version.MajorMinor(1, 36))
	vars := map[string]any{}
	options := environment.VersionedOptions{IntroducedVersion: version.MajorMinor(1, 0)}
	size := &sizes{root: apiservercel.DynType}
	if len(q.Schema) > 0 {
		s := structural(q.Schema)
		declared := model.SchemaDeclType(s, q.Root).MaybeAssignTypeName("selfType")
		size.root = declared
		options.DeclTypes = []*apiservercel.DeclType{declared}
		options.EnvOptions = []cel.EnvOption{cel.Variable("self", declared.CelType()), cel.Variable("oldSelf", declared.CelType())}
		if len(q.Self) > 0 {
			vars["self"] = schemacel.UnstructuredToVal(decode(q.Self), s)
		}
		if len(q.OldSelf) > 0 {
			vars["oldSelf"] = schemacel.UnstructuredToVal(decode(q.OldSelf), s)
		}
	}
	set, err := base.Extend(options)
	if err != nil {
		panic(err)
	}
	env := set.StoredExpressionsEnv()
	ast, issues := env.Compile(q.Expr)
	if issues != nil && issues.Err() != nil {
		a.Issues = issues.String()
		return a
	}
	a.Type = checker.FormatCELType(ast.OutputType())
	estimator := &library.CostEstimator{SizeEstimator: size}
	estimate, err := env.EstimateCost(ast, estimator)
	if err != nil {
		panic(err)
	}
	a.MinCost, a.MaxCost = strconv.FormatUint(estimate.Min, 10), strconv.FormatUint(estimate.Max, 10)
	program, err := env.Program(ast, cel.CostLimit(10000000), cel.CostTracking(estimator), cel.InterruptCheckFrequency(100))
	if err != nil {
		a.Issues = "program: " + err.Error()
		return a
	}
	value, details, err := program.Eval(vars)
	if details != nil && details.ActualCost() != nil {
		a.Cost = *details.ActualCost()
	}
	if err != nil {
		a.Error = err.Error()
		return a
	}
	a.Value = show(value)
	return a
}

func show(v ref.Val) string {
	switch t := v.(type) {
	case types.String:
		text, _ := json.Marshal(string(t))
		return string(text)
	case types.Bytes:
		return fmt.Sprintf("bytes(%x)", []byte(t))
	case types.Uint:
		return fmt.Sprintf("%du", uint64(t))
	case types.Double:
		if math.Trunc(float64(t)) == float64(t) {
			return fmt.Sprintf("double(%.0f)", float64(t))
		}
		return fmt.Sprintf("double(%s)", strconv.FormatFloat(float64(t), 'g', -1, 64))
	case types.Int, types.Bool:
		return fmt.Sprint(t.Value())
	case types.Null:
		return "null"
	case types.Timestamp, types.Duration:
		return fmt.Sprintf("%s(%v)", t.Type().TypeName(), t.ConvertToType(types.StringType).Value())
	case *types.Optional:
		if !t.HasValue() {
			return "none"
		}
		return "some(" + show(t.GetValue()) + ")"
	case *types.Type:
		return "type(" + t.TypeName() + ")"
	case traits.Lister:
		parts := []string{}
		for it := t.Iterator(); it.HasNext() == types.True; {
			parts = append(parts, show(it.Next()))
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case traits.Mapper:
		parts := []string{}
		for it := t.Iterator(); it.HasNext() == types.True; {
			key := it.Next()
			parts = append(parts, show(key)+": "+show(t.Get(key)))
		}
		sort.Strings(parts)
		return "{" + strings.Join(parts, ", ") + "}"
	default:
		return v.Type().TypeName()
	}
}

func safely(q question) (a answer) {
	defer func() {
		if r := recover(); r != nil {
			a = answer{Issues: fmt.Sprint("panic: ", r)}
		}
	}()
	return ask(q)
}

func main() {
	var questions []question
	if err := json.NewDecoder(os.Stdin).Decode(&questions); err != nil {
		panic(err)
	}
	answers := make([]answer, len(questions))
	for i, q := range questions {
		answers[i] = safely(q)
	}
	if err := json.NewEncoder(os.Stdout).Encode(answers); err != nil {
		panic(err)
	}
}
