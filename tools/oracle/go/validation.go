package main

import (
	"encoding/json"
	"fmt"

	"k8s.io/apimachinery/pkg/api/validate/content"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	pathvalidation "k8s.io/apimachinery/pkg/api/validation/path"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metavalidation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

func init() { answerers["validation"] = answerValidation }

type validationQuestion struct {
	Value  *string             `json:"value"`
	Meta   *metav1.ObjectMeta  `json:"meta"`
	Old    *metav1.ObjectMeta  `json:"old"`
	Number *int                `json:"number"`
	Port   *intstr.IntOrString `json:"port"`
	Total  int                 `json:"total"`
	IP     *string             `json:"ip"`

	Selector   *metav1.LabelSelector `json:"selector"`
	Conditions []metav1.Condition    `json:"conditions"`
}

var valueChecks = map[string]func(string) []string{
	"dns1123Label":                   validation.IsDNS1123Label,
	"dns1123Subdomain":               validation.IsDNS1123Subdomain,
	"dns1123SubdomainCaseless":       content.IsDNS1123SubdomainCaseless,
	"dns1123SubdomainWithUnderscore": validation.IsDNS1123SubdomainWithUnderscore,
	"dns1035Label":                   validation.IsDNS1035Label,
	"wildcardDNS1123Subdomain":       validation.IsWildcardDNS1123Subdomain,
	"qualifiedName":                  validation.IsQualifiedName,
	"labelValue":                     validation.IsValidLabelValue,
	"cIdentifier":                    validation.IsCIdentifier,
	"envVarName":                     validation.IsEnvVarName,
	"relaxedEnvVarName":              validation.IsRelaxedEnvVarName,
	"configMapKey":                   validation.IsConfigMapKey,
	"pathSegmentName":                pathvalidation.IsValidPathSegmentName,
	"percent":                        validation.IsValidPercent,
	"httpHeaderName":                 validation.IsHTTPHeaderName,
	"portName":                       validation.IsValidPortName,
	"generatedSubdomain":             func(name string) []string { return apivalidation.NameIsDNSSubdomain(name, true) },
	"generatedLabel":                 func(name string) []string { return apivalidation.NameIsDNSLabel(name, true) },
	"generated1035Label":             func(name string) []string { return apivalidation.NameIsDNS1035Label(name, true) },
}

func answerValidation(raw json.RawMessage) (any, error) {
	var question validationQuestion
	if err := json.Unmarshal(raw, &question); err != nil {
		return nil, err
	}
	path := field.NewPath("metadata")
	switch {
	case question.Value != nil:
		answer := map[string]any{}
		for name, check := range valueChecks {
			if wrong := check(*question.Value); len(wrong) > 0 {
				answer[name] = wrong
			}
		}
		if wrong := errorTexts(metavalidation.ValidateFieldManager(*question.Value, path)); len(wrong) > 0 {
			answer["fieldManager"] = wrong
		}
		answer["quoted"] = fmt.Sprintf("%q", *question.Value)
		return answer, nil
	case question.Number != nil:
		return map[string]any{"port": validation.IsValidPortNum(*question.Number)}, nil
	case question.Port != nil:
		answer := map[string]any{"text": question.Port.String(), "int": question.Port.IntValue()}
		for name, roundUp := range map[string]bool{"up": true, "down": false} {
			value, err := intstr.GetScaledValueFromIntOrPercent(question.Port, question.Total, roundUp)
			if err != nil {
				answer[name] = err.Error()
			} else {
				answer[name] = value
			}
		}
		return answer, nil
	case question.IP != nil:
		return answerIP(*question.IP, path), nil
	case question.Selector != nil:
		return errorTexts(metavalidation.ValidateLabelSelector(question.Selector, metavalidation.LabelSelectorValidationOptions{}, path)), nil
	case question.Conditions != nil:
		return errorTexts(metavalidation.ValidateConditions(question.Conditions, path)), nil
	case question.Old != nil:
		return errorTexts(apivalidation.ValidateObjectMetaUpdate(question.Meta, question.Old, path)), nil
	}
	return errorTexts(apivalidation.ValidateObjectMeta(question.Meta, true, apivalidation.NameIsDNSSubdomain, path)), nil
}

func answerIP(text string, path *field.Path) map[string]any {
	answer := map[string]any{
		"ip":         errorTexts(validation.IsValidIP(path, text)),
		"legacyIP":   errorTexts(validation.IsValidIPForLegacyField(path, text, false, nil)),
		"cidr":       errorTexts(validation.IsValidCIDR(path, text)),
		"legacyCIDR": errorTexts(validation.IsValidCIDRForLegacyField(path, text, false, nil)),
		"interface":  errorTexts(validation.IsValidInterfaceAddress(path, text)),
	}
	if len(validation.IsValidIPForLegacyField(path, text, false, nil)) == 0 {
		answer["ipWarnings"] = append([]string{}, validation.GetWarningsForIP(path, text)...)
	}
	if len(validation.IsValidCIDRForLegacyField(path, text, false, nil)) == 0 {
		answer["cidrWarnings"] = append([]string{}, validation.GetWarningsForCIDR(path, text)...)
	}
	return answer
}

func errorTexts(errs field.ErrorList) []string {
	texts := make([]string, 0, len(errs))
	for _, err := range errs {
		texts = append(texts, string(err.Type)+" "+err.Error())
	}
	return texts
}
